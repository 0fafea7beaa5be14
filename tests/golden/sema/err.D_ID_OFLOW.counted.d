/* @repeat 64256 this int a#; */
BEGIN { this->last++; self->other = 1; }
