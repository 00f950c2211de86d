"""Reading files of ten formats, in processes that can harm nothing but themselves."""

from cogni_adapters.extraction.sandbox import SandboxExtractorAdapter

__all__ = ["SandboxExtractorAdapter"]
