replay:::firing { this->id = speculation(); speculate(this->id); printf("%d %d\n", pid, arg1); }
replay:::firing { commit(this->id); }
