"""What we do: one use case a module, one public function each."""
