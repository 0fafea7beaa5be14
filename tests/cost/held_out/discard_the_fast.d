replay:::firing { this->spec = speculation(); this->t0 = timestamp; speculate(this->spec); printf("%s %d\n", execname, arg1); }
replay:::firing /this->spec && arg1 > 95/ { commit(this->spec); }
replay:::firing /this->spec && arg1 <= 95/ { discard(this->spec); }
