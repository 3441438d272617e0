"""Add your own types of etl objects to configurations of aeon's loader.

Derive a class from `CustomEtl`. Then call `register` with the class, or name it in your package's
entry points, in the group `exset.etl`.
"""

from exset.grammars.aeon.config.schema_types import REQUIRED, Constraint, Member
from exset.grammars.aeon.config.settings import Settings
from exset.runtime.aeon.provision.draws import Draws
from exset.runtime.aeon.provision.etl import Context, CustomEtl
from exset.runtime.aeon.provision.record import Record
from exset.runtime.aeon.provision.registry import register

__all__ = [
    "REQUIRED",
    "Constraint",
    "Context",
    "CustomEtl",
    "Draws",
    "Member",
    "Record",
    "Settings",
    "register",
]
