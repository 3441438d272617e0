"""The command line: measure, print a table for each section, and write JSON."""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice

from benchmarks import (
    arrays,
    batches,
    caches,
    clusters,
    conformance,
    drivers,
    grammars,
    growth,
    layouts,
    lists,
    loader_memory,
    machine,
    manifests,
    memory,
    provisioning,
    pumps,
    samplers,
    schemas,
    shards,
    siblings,
    small,
    speed,
    tables,
)
from benchmarks.inputs import Inputs
from benchmarks.rows import Cases, Row, table

SECTIONS: dict[str, tuple[str, Callable[[Inputs, int], Cases]]] = {
    "load": ("Loading: from file to ExampleSet, all columns filled", speed.loads),
    "threads": ("Loading in two threads, against one thread", speed.threads),
    "save": ("Saving: from ExampleSet to a file that is whole and on disk", speed.saves),
    "reference": ("The table driver against the reference driver", drivers.references),
    "grammar": ("Grammars of users: columns against Lark's own tree", grammars.parses),
    "layout": ("Layouts of users: columns against compiled Construct", layouts.reads),
    "siblings": ("Sibling formats: from bytes to all columns", siblings.reads),
    "growth": ("Cost of an example by their number, 1 if it stays the same", growth.growths),
    "pumps": ("Time for twice as many bytes, of each sort", pumps.pumps),
    "memory": ("Peak of memory: loading", memory.peaks),
    "parts": ("Peak of memory: in chunks, which should not grow", memory.parts),
    "list": ("Sample lists: from file to SampleList, all columns filled", lists.reads),
    "scan": ("Small HDF5 files that a sample list names, by the number of processes", lists.scans),
    "clusters": ("Many HDF5 files: processes, shares, Dask and MPI", clusters.cases),
    "fields": ("Samples of HDF5 files: from files to packed arrays", schemas.reads),
    "manifest": ("aeon's manifests, and the elements that are made of them", manifests.cases),
    "cache": (
        "Blocks of aeon's caches: written to disk, read to the end, indexed",
        caches.cases,
    ),
    "provision": (
        "aeon's loader: pictures of 500x375 to 224x224, labels, and blobs",
        provisioning.cases,
    ),
    "loader": ("Peak of memory: an epoch of aeon's loader", loader_memory.peaks),
    "shards": ("Shards: tables of 256-byte samples, against other packages", shards.cases),
    "csv": ("CSV and JSON Lines: 64 numbers a row, against pandas and json", tables.text),
    "convert": ("Conversions, against the loops that they replace", tables.conversions),
    "samplers": ("Samplers: 64 classes by 4 samples", samplers.drawings),
    "arrays": ("Arrays: to_arrays against np.copyto of as many bytes", arrays.fillings),
    "batches": (
        "Batches: of rows against a plain loop, of events against indexed arrays",
        batches.epochs,
    ),
    "conformance": ("The conformance kit: cases in a loop", conformance.loops),
    "small": ("A file of 1 kB, as a process", small.answers),
}
_RUNS = 5
_RUNS_OF = {
    **{
        "pumps": 10,
        "memory": 3,
        "parts": 3,
        "scan": 3,
        "clusters": 3,
        "fields": 3,
        "loader": 3,
        "small": 15,
    }
}
_QUICK = 1 / 500
# Cases that start many processes, and sections with many cases of one kind.
_QUICK_CASES = {
    **dict.fromkeys(
        ("memory", "parts", "scan", "clusters", "small", "fields", "arrays", "loader"), 1
    ),
    **dict.fromkeys(("pumps", "samplers", "batches", "cache", "list", "manifest"), 2),
    **dict.fromkeys(("shards", "csv", "convert", "provision", "save", "reference", "siblings"), 2),
    "layout": 2,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write all figures there, too")
    parser.add_argument("--only", metavar="NAME", help="only cases with this in `section name`")
    parser.add_argument("--runs", metavar="N", type=int, help="how many turns (5; small files 15)")
    parser.add_argument("--quick", action="store_true", help="tiny inputs, one turn, few cases")
    chosen = parser.parse_args(arguments)

    where = machine.description()
    print("\n".join(f"{name:<10} {text}" for name, text in where.items()))
    begun, rows = time.time(), []
    with tempfile.TemporaryDirectory(prefix="exset-benchmarks-") as folder:
        inputs = Inputs(folder, _QUICK if chosen.quick else 1)
        for section, (title, cases) in SECTIONS.items():
            runs = 1 if chosen.quick else chosen.runs or _RUNS_OF.get(section, _RUNS)
            some = cases(inputs, runs)
            if chosen.quick:
                some = islice(some, _QUICK_CASES.get(section))
            found = list(_measured(section, some, chosen.only or ""))
            if found:
                print(f"\n{title}; {runs} turns\n", *table(found), sep="\n", flush=True)
            rows += found
    if not rows:
        print(f"no case has {chosen.only!r} in its name", file=sys.stderr)
        return 2
    if chosen.json:
        report = {"schema": 1, "quick": chosen.quick, "machine": where, "begun": begun}
        with open(chosen.json, "w", encoding="utf-8") as file:
            json.dump({**report, "rows": [row.to_dict() for row in rows]}, file, indent=1)
            file.write("\n")
    return 0


def _measured(section: str, cases: Cases, only: str) -> Iterator[Row]:
    for name, measure in cases:
        if only in f"{section} {name}":
            if sys.stderr.isatty():
                print(f"  {section} {name}", file=sys.stderr)
            yield Row(section, name, measure())


if __name__ == "__main__":
    sys.exit(main())
