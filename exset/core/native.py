"""Load the object file of a group of kernels, and call its functions, without Numba."""

import ctypes
import json
import struct
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from llvmlite import binding

Function = Callable[..., Any]

_engines: list[object] = []
"""Engines that hold the code in memory until the end, as functions may be called at any time."""


def link(data: bytes) -> dict[str, Function]:
    """Load object files, and return their functions by name.

    `data`: what `exset.compiler.objects.compile_group` returned. A function raises TypeError for a
    wrong number or wrong types of arguments, which would make machine code write to wrong
    addresses. Raises OSError if the code needs a function that is missing.
    """
    head, _, code = data.partition(b"\n")
    described = json.loads(head)
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    for name in described["needs"]:
        if not binding.address_of_symbol(name):
            raise OSError(f"the compiled kernels need a function {name}")
    host = binding.get_host_cpu_features()
    *_, best = (each for each in described["objects"] if all(map(host.get, each["features"])))
    code = code[best["begin"] : best["end"]]
    machine = binding.Target.from_default_triple().create_target_machine()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)

    def function(symbol: str, takes: list[Any], gives: str) -> Function:
        return _checked(prototype(engine.get_function_address(symbol)), takes, gives)

    return {
        name: _first([function(**each) for each in variants])
        for name, variants in described["functions"].items()
    }


def _first(variants: list[Function]) -> Function:
    """Return a function that calls the first of `variants` that accepts its arguments."""
    if len(variants) == 1:
        return variants[0]

    def call(*args: object) -> object:
        for each in variants[:-1]:
            try:
                return each(*args)
            except TypeError:
                continue
        return variants[-1](*args)

    return call


def _checked(run: Callable[[object], int], takes: list[Any], gives: str) -> Function:
    """Return a Python function that checks the types of its arguments, then calls machine code.

    `run`: the machine code; its arguments and its results are in an array of 64-bit slots. `takes`
    describes the arguments: a `struct` code for a number; None for an argument that must be None;
    and for an array its dtype, its number of dimensions, and whether the code writes to it.
    `gives`: the `struct` codes of the results.
    """
    kinds = [
        (np.dtype(each[0]), each[1], each[2]) if isinstance(each, list) else each for each in takes
    ]
    codes = chain.from_iterable(
        "P" + "q" * each[1] if isinstance(each, list) else each or "" for each in takes
    )
    arguments = struct.Struct("".join(f"{each}0q" for each in codes))
    results = struct.Struct("".join(f"{each}0q" for each in gives))
    size = arguments.size + max(results.size, 8)

    def call(*args: object) -> object:
        slots: list[object] = []
        for value, kind in zip(_parts(args), kinds, strict=True):
            if not isinstance(kind, tuple):
                if kind is not None:
                    slots.append(value)
                elif value is not None:
                    raise TypeError("expected None")
                continue
            dtype, dimensions, is_written = kind
            if not isinstance(value, np.ndarray):
                raise TypeError(f"expected an array, not {type(value).__name__}")
            flags = value.flags
            if value.dtype != dtype or value.ndim != dimensions:
                raise TypeError(f"expected {dtype}[{dimensions}], not {value.dtype}[{value.ndim}]")
            if not (flags.c_contiguous and flags.aligned and (flags.writeable or not is_written)):
                raise TypeError("expected a contiguous, aligned array, writable if it is an output")
            slots.append(value.ctypes.data)
            slots += value.shape
        try:
            memory = ctypes.create_string_buffer(arguments.pack(*slots), size)
        except struct.error as error:
            raise TypeError(str(error)) from None
        if run(memory):
            raise RuntimeError("a kernel raised an exception")
        result = results.unpack_from(memory, arguments.size)
        return result if len(gives) > 1 else result[0] if gives else None

    return call


def _parts(values: tuple[object, ...]) -> Iterator[object]:
    for each in values:
        if isinstance(each, tuple):
            yield from _parts(each)
        else:
            yield each
