"""Choose the words whose logits are attributed and compared."""
