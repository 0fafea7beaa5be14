/* idle -> busy -> draining -> idle, driven by the argument */
int state[int];

replay:::firing { this->next = state[tid]; }
replay:::firing /state[tid] == 0 && (arg1 & 1)/ { this->next = 1; }
replay:::firing /state[tid] == 1 && !(arg1 & 2)/ { this->next = 2; }
replay:::firing /state[tid] == 2 && (arg1 % 3) == 0/ { this->next = 0; }
replay:::firing /this->next != state[tid]/ { @changes[state[tid], this->next] = count(); }
replay:::firing { state[tid] = this->next; }
