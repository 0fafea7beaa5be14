#pragma once
// --folded and --flame of a run: the stacks of its aggregations, in place of their tables or beside them.

#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/dif/program.h"
#include "view/flame_graph.h"
#include "view/page.h"

namespace CLI {
class App;
}

namespace dvm::cmd {

struct StackViewOptions {
  std::string flame;  // file for the drawing; empty: none
  std::string unit = "samples";
  bool folded = false, off_cpu = false;
  bool lines = false;  // JSON has the source of stacks too
};

void add_view_options(CLI::App& command, StackViewOptions& options);
// Before the run: the error says that no aggregation of the programs has a stack to draw.
Status check_view(const StackViewOptions& given, std::span<const dif::Program* const> programs);

class StackView {
 public:
  // for_page: flames() will be asked for.
  StackView(const StackViewOptions& given, bool for_page);

  // Drawings, and JSON if that is wanted, have lines of source.
  bool shows_source() const { return copy_ || given_.lines; }
  // The file into which the run copies its aggregations; null if there is nothing to show.
  std::FILE* copy() const { return copy_.get(); }
  // After the run: prints folded stacks, or writes the drawing. Several aggregations have a drawing each, with the name before
  // the suffix. One that cannot be drawn does not keep the others from it.
  Status show(std::FILE* out);
  // After the run: a drawing for each aggregation that has stacks.
  Result<std::vector<view::PageFlame>> flames();

 private:
  view::FlameStyle style(const std::string& name) const;
  Status draw(const std::vector<view::FoldedStack>& stacks, const std::string& name, const std::string& file) const;

  const StackViewOptions& given_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> copy_;
};

}  // namespace dvm::cmd
