// Says why the user may not trace: tracing_privilege uprobes|breakpoints. Prints nothing if nothing is missing.

#include "tests/support/tracing_privilege.h"

#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what != "uprobes" && what != "breakpoints") return 2;
  std::puts((what == "uprobes" ? dvm::test::why_no_uprobes() : dvm::test::why_no_breakpoints()).c_str());
  return 0;
}
