replay:::firing { this->x = (arg0 << 3) ^ (arg1 & 0xff) | (arg2 >> 2); @ = sum(this->x % 7); }
