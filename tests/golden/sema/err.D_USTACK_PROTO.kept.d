BEGIN { this->at = ustack(3, 4); }
