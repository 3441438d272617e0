"""Recognize loops of other libraries that divide a sampler's indices among processes.

Lightning and others wrap a sampler in a `DistributedSampler`, which gives each process some of the
items of each batch. Accelerate wraps the batches, and gives each process some of the batches. No
library informs the sampler of this. Only the call stack shows who reads the indices.
"""

import sys
from typing import Final, NoReturn

ITEMS: Final = ("torch.utils.data.distributed", "DistributedSampler")
"""The module and the class that divides items."""
BATCHES: Final = ("accelerate.data_loader", "BatchSamplerShard")
"""The module and the class that divides batches."""


def divided_by(*dividers: tuple[str, str]) -> bool:
    """Return whether a method of one of these classes is among the callers of this function's
    caller.

    dividers: the pair (module, class name) of each class.
    """
    modules = ((sys.modules.get(module), name) for module, name in dividers)
    classes = tuple(getattr(module, name) for module, name in modules if hasattr(module, name))
    frame = sys._getframe(1) if classes else None
    while frame is not None:
        if issubclass(type(frame.f_locals.get("self")), classes):
            return True
        frame = frame.f_back
    return False


def refuse_sampler(kind: type) -> NoReturn:
    """Raise TypeError because another library, such as Lightning, tries to replace a sampler.

    kind: the class of the batches, for the message.
    """
    raise TypeError(
        f"{kind.__name__} cannot change its sampler: pass use_distributed_sampler=False to"
        " Lightning's Trainer, and rank= to the sampler"
    )
