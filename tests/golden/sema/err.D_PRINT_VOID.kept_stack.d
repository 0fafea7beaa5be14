BEGIN { this->at = ustack(3); print(this->at); }
