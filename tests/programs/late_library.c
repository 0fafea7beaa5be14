// A library that is opened late.
int late_count;
__attribute__((noinline)) int late_function(int n) {
  late_count += n;
  return late_count;
}
