/* An array that the program passes is a pointer, as in C. */
provider shelf { probe put(int slots[4], char names[2][8]); };
shelf1:::put { this->slot = args[0][1]; this->name = args[1][1][2]; }
