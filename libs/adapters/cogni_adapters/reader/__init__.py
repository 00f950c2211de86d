"""A local reader: answers with sentences of the sources, where no language model is at hand."""
