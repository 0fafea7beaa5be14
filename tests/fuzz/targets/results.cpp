// Any bytes as the results of a run, and of a second one: they are refused, or merged, folded and drawn.

#include "view/results.h"

#include <sstream>

#include "view/flame_graph.h"
#include "view/folded.h"

namespace {

void draw(const dvm::view::Results& results) {
  for (const std::string& name : dvm::view::names_with_stacks(results)) {
    const std::vector<dvm::view::FoldedStack> stacks = dvm::view::fold(results, name);
    (void)dvm::view::folded_lines(stacks);
    (void)dvm::view::flame_graph(stacks, {.title = name, .unit = "samples"}, &stacks);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  dvm::view::Results results;
  for (int run = 0; run < 2; run++) {
    std::istringstream lines(text);
    if (!results.add("run", lines)) return 0;
  }
  draw(results);
  return 0;
}
