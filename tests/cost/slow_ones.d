replay:::firing { self->begin = timestamp; self->size = arg1; }
replay:::firing /self->begin && self->size > 16/
{
  this->taken = timestamp - self->begin;
  @[this->taken > 1000000 ? "slow" : "fast"] = count();
  self->begin = 0;
  self->size = 0;
}
