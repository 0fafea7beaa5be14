BEGIN { this->at = ustack(3); this->first = this->at.pid; }
