// A second static function of one name.
extern volatile int sink;

__attribute__((noinline)) static int sp_twin(int x) {
  sink |= x;
  return x;
}
int sp_call_other_twin(int x) { return sp_twin(x) + 1; }
