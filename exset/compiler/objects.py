"""Compile a group of kernels to object files, which run without Numba and Python.

For each kernel that Python calls, an object file has a function `int32 name(int64 *slots)`. The
function takes its arguments from consecutive slots of 64 bits, and stores its results in the slots
after these. An array takes slots for its address and its shape. A tuple takes the slots of its
members. The function returns 0, unless the kernel raised an exception.
"""

import json
import platform
from collections.abc import Iterator
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding
from numba.core import types

from exset.compiler import target
from exset.compiler.signatures import Leaf, code, leaves, members, variants
from exset.core.kernels import ENTRY, INLINE, Kernels, instruction_of, mark_of

_IS_X86 = platform.machine().lower() in ("x86_64", "amd64")
_AVX2 = ["avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"]
_CPUS: dict[str, list[str]] = {"x86-64-v2": [], "x86-64-v3": _AVX2} if _IS_X86 else {"generic": []}
"""The processors to compile for, the best last, each with the features that it must have."""

_OPTIONS: dict[str, Any] = {
    "nopython": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


def compile_group(group: Kernels) -> bytes:
    """Return a JSON line that describes the functions, then object files for several processors.

    If a kernel cannot be compiled, raises Numba's exception, which may be of any class.
    """
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target.use()
    dispatchers = group.copies(_dispatcher)
    module = binding.parse_assembly("")
    compiled: list[_Compiled] = []
    linked: set[target.Library] = set()
    for function in group.marked():
        if mark_of(function) != ENTRY:
            continue
        for number, signature in enumerate(variants(function)):
            each = _compile(function.__name__, number, dispatchers[function.__name__], signature)
            compiled.append(each)
            short = dict(_instructions(group, dispatchers))
            for library in set(each.library.needed()) - linked:
                module.link_in(short.get(library) or library.module, preserve=True)
                linked.add(library)
            module.link_in(binding.parse_assembly(_wrapper(each)))
    kept = {name for each in compiled for name in (each.symbol, each.kernel)}
    for each in (*module.functions, *module.global_variables):
        if each.name not in kept and not each.is_declaration:
            each.linkage = "internal"
    objects, data = [], b""
    for cpu, features in _CPUS.items():
        optimised, machine = _optimised(module.clone(), cpu)
        code = machine.emit_object(optimised)
        objects.append({"features": features, "begin": len(data), "end": len(data) + len(code)})
        data += code
    functions: dict[str, list[dict[str, object]]] = {}
    for each in compiled:
        functions.setdefault(each.name, []).append(
            {
                "symbol": each.symbol,
                "takes": _described(optimised.get_function(each.kernel), each.takes),
                "gives": each.gives,
            }
        )
    declared = [each.name for each in optimised.functions if each.is_declaration]
    needs = [name for name in declared if not name.startswith("llvm.")]
    head = {"functions": functions, "needs": needs, "objects": objects}
    return json.dumps(head).encode() + b"\n" + data


Signature = tuple[types.Type, ...]


class _Compiled(NamedTuple):
    """A kernel that Python calls, compiled for one choice of argument types.

    - name: the kernel's name in Python. kernel: its name in the LLVM code.
    - symbol: the name of its wrapper in the object file. library: its LLVM code.
    - expected: the LLVM type of each argument. takes: the numbers and arrays of its arguments.
    - gives: the `struct` codes of its results.
    """

    name: str
    symbol: str
    kernel: str
    library: target.Library
    expected: list[str]
    takes: list[Leaf]
    gives: str


def _compile(
    name: str, number: int, dispatcher: Any, signature: tuple[types.Type, ...]
) -> _Compiled:
    dispatcher.compile(signature)
    result = dispatcher.overloads[signature]
    kernel = result.library.module.get_function(result.fndesc.llvm_func_name)
    kernel.add_function_attribute("noinline")
    return _Compiled(
        name=name,
        symbol=f"exset_{name}_{number}",
        kernel=kernel.name,
        library=result.library,
        expected=[str(each.type) for each in kernel.arguments],
        takes=[leaf for each in signature for leaf in leaves(each)],
        gives=_results(result.signature.return_type),
    )


def _dispatcher(function: FunctionType, mark: str) -> object:
    options = _OPTIONS | {"forceinline": mark == INLINE}
    return target.Dispatcher(function, targetoptions=options, pipeline_class=target.Compiler)


def _instructions(
    group: Kernels, dispatchers: dict[str, Any]
) -> Iterator[tuple[target.Library, Any]]:
    """Yield the kernels that are one instruction of this processor, each as an LLVM module.

    The module has the instruction in place of the kernel's code. dispatchers: the compiled kernels,
    by name.
    """
    for function in group.marked():
        name = instruction_of(function)
        if name is None or not (name.startswith("llvm.x86.") and _IS_X86):
            continue
        for result in dispatchers[function.__name__].overloads.values():
            kernel = result.library.module.get_function(result.fndesc.llvm_func_name)
            count = sum(isinstance(each, types.Integer) for each in result.signature.args)
            yield result.library, binding.parse_assembly(_instruction(name, kernel, count))


def _instruction(name: str, kernel: Any, count: int) -> str:
    """Return the LLVM code, as text, of a function that calls one instruction.

    The function replaces a kernel that takes `count` numbers.
    """
    numbers = ", ".join(f"i64 %{i}" for i in range(2, 2 + count))  # after result and exception
    return f"""
        declare i64 @{name}({", ".join(["i64"] * count)})
        define i32 @"{kernel.name}"({", ".join(str(each.type) for each in kernel.arguments)})
            alwaysinline {{
            %value = call i64 @{name}({numbers})
            store i64 %value, ptr %0
            ret i32 0
        }}
    """


def _described(kernel: Any, takes: list[Leaf]) -> list[object]:
    """Describe the arguments of a kernel for the module that loads it.

    A number is described by its `struct` code. An array is described by its dtype, its number of
    dimensions, and whether the kernel writes to it. LLVM has marked the pointers that the kernel
    uses only to read.
    """
    described: list[object] = []
    arguments = list(kernel.arguments)[2:]
    for leaf in takes:
        if isinstance(leaf, tuple):
            marks = set(arguments[4].attributes)
            described.append([*leaf, not marks & {b"readonly", b"readnone"}])
            arguments = arguments[5 + 2 * leaf[1] :]
        else:
            described.append(leaf)
            arguments = arguments[1:]
    return described


def _results(result: types.Type) -> str:
    if result == types.none:
        return ""
    return "".join(map(code, members(result) if isinstance(result, types.BaseTuple) else [result]))


def _wrapper(compiled: _Compiled) -> str:
    """Return the LLVM code of a function that takes 64-bit slots and calls a kernel with them.

    Numba expects two arguments before the kernel's own: the addresses of the kernel's result and of
    an exception. Numba expects an array as two addresses of owners, the number and the size of its
    elements, its address, its shape, and its strides.
    """
    expected, kernel = compiled.expected, compiled.kernel
    lines: list[str] = []
    slots = 0

    def load(type_: str) -> str:
        nonlocal slots
        lines.append(f"%at{slots} = getelementptr i64, ptr %slots, i64 {slots}")
        lines.append(f"%slot{slots} = load {type_}, ptr %at{slots}")
        slots += 1
        return f"%slot{slots - 1}"

    def multiply(a: str, b: str) -> str:
        name = f"%product{len(lines)}"
        lines.append(f"{name} = mul i64 {a}, {b}")
        return name

    def arguments() -> Iterator[str]:
        for leaf in compiled.takes:
            if leaf is None:
                yield "null"
            elif isinstance(leaf, str):
                yield load(expected[len(given)])
            else:
                yield from array(*leaf)

    def array(dtype: str, dimensions: int) -> Iterator[str]:
        address, shape = load("ptr"), [load("i64") for _ in range(dimensions)]
        size = str(np.dtype(dtype).itemsize)
        strides, count = [size], shape[-1]
        for length, following in zip(shape[-2::-1], shape[:0:-1], strict=True):
            strides.insert(0, multiply(strides[0], following))
            count = multiply(count, length)
        yield from ("null", "null", count, size, address, *shape, *strides)

    given = ["%result", "%error"]
    for argument in arguments():
        given.append(argument)
    assert len(given) == len(expected), "Numba's calling convention has changed"
    typed = ", ".join(f"{a} {b}" for a, b in zip(expected, given, strict=True))
    body = "\n".join(lines)
    return f"""
        declare i32 @"{kernel}"({", ".join(expected)})
        define i32 @{compiled.symbol}(ptr %slots) {{
            {body}
            %result = getelementptr i64, ptr %slots, i64 {slots}
            %error = alloca ptr
            %status = call i32 @"{kernel}"({typed})
            ret i32 %status
        }}
    """


def _optimised(module: Any, cpu: str) -> tuple[Any, Any]:
    """Optimise a module for the processor `cpu`, in place; return it and LLVM's target machine."""
    machine = binding.Target.from_default_triple().create_target_machine(
        cpu=cpu, features="", opt=3, reloc="pic", codemodel="default"
    )
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module, machine
