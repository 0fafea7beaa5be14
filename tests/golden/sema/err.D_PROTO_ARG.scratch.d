BEGIN { copyinto(4096, 4, 77); }
BEGIN { v = 77; copyinto(4096, 4, v); }
BEGIN { copyinto(4096, 4, "text"); }
BEGIN { bcopy(alloca(8), "text", 4); }
BEGIN { copyinto(4096, 4, alloca(4)); this->p = alloca(8); bcopy(this->p, this->p, 8); }
