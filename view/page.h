#pragma once
// A run as one HTML page that needs nothing else: tables, their growth over time, heat maps of distributions, flame graphs, and
// what the run cost.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/consumer/metrics.h"
#include "view/history.h"

namespace dvm::view {

struct PageFlame {
  std::string title;
  std::string svg;      // empty: it could not be drawn
  std::string problem;  // why not
};

struct PageContents {
  std::string version = {};
  const runtime::Snapshot* last = nullptr;  // of the end; null: there is none
  const History* history = nullptr;
  std::string account = {};  // JSON, as --account=json prints it; empty: none
  std::vector<PageFlame> flames = {};
};

// `shell` is the page without data (page.html). Whatever a key holds, it cannot end the element that holds the data.
std::string page(std::string_view shell, const PageContents& contents);

}  // namespace dvm::view
