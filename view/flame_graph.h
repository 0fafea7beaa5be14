#pragma once
// A flame graph as an SVG file: each frame is a box above that of its caller, and its width is its share of the weight. A small
// script in the file zooms into a clicked box and searches by name. Where scripts do not run, the drawing and its tooltips
// remain.

#include <cstdint>
#include <string>
#include <vector>

#include "dvm/common/result.h"
#include "view/folded.h"

namespace dvm::view {

enum class FlamePalette : uint8_t { hot, off_cpu };  // warm colours; blue ones for time in which nothing ran

struct FlameStyle {
  std::string title;
  std::string unit;  // of the weight, for tooltips: "samples"
  FlamePalette palette = FlamePalette::hot;
  int width = 1200;  // pixels
};

inline constexpr size_t kMostFlameFrames = 1000;  // of one stack
inline constexpr size_t kMostFlameBoxes = 20000;  // that are drawn: a browser takes seconds for more

// Frames of the kernel and inlined functions have colours of their own, and tooltips name lines of source. Frames narrower than a
// tenth of a pixel, and the narrowest beyond kMostFlameBoxes, are merged into a box "and N more" on their caller, and counted
// below the title. With `before`, the stacks of another run, colours show what changed: red where the share of the total grew,
// blue where it shrank. Fails if nothing has a weight above 0, or if a stack has more than kMostFlameFrames frames.
Result<std::string> flame_graph(const std::vector<FoldedStack>& stacks, const FlameStyle& style,
                                const std::vector<FoldedStack>* before = nullptr);

}  // namespace dvm::view
