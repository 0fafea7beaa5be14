BEGIN { this->at = ustack(3); this->at = ustack(4); }
BEGIN { this->sum = ustack(3) + 1; }
