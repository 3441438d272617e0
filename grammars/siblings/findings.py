"""The findings of svmlight, SNNS, CNTK, MikeNet, emergent and Kaldi. Their codes are stable."""

from typing import Final

from exset.grammars.columns.findings import Rules

SHARED: Final = Rules("exset.grammars.siblings:siblings.findings")
SVMLIGHT: Final = Rules("exset.grammars.siblings:svmlight.findings")
SNNS: Final = Rules("exset.grammars.siblings:snns.findings")
CTF: Final = Rules("exset.grammars.siblings:ctf.findings")
MIKENET: Final = Rules("exset.grammars.siblings:mikenet.findings")
EMERGENT: Final = Rules("exset.grammars.siblings:emergent.findings")
KALDI: Final = Rules("exset.grammars.siblings:kaldi.findings")
ARK: Final = Rules("exset.grammars.siblings:ark.findings")
