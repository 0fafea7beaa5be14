replay:::firing { this->id = speculation(); speculate(this->id); trace(arg1); }
replay:::firing { discard(this->id); }
