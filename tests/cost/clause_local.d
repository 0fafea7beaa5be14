replay:::firing { this->a = arg0 + arg1; this->b = this->a * 3; @ = max(this->b); }
