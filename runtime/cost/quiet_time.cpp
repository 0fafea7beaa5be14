// Covered by tests/unit/runtime/calibrate_test.cpp.

#include "runtime/cost/quiet_time.h"

#include <algorithm>

#include "runtime/cost/core_share.h"

namespace dvm::runtime {
namespace {

constexpr double kInterrupted = 3;  // times as long as the middle one
constexpr double kEnough = 0.02;    // of all things

}  // namespace

bool core_is_quiet() {
  static dvm_core_gauge gauge{};
  return dvm_is_alone(&gauge) != 0;
}

void QuietTime::begin() { was_quiet_ = core_is_quiet(); }

void QuietTime::end(double ns, double things) {
  if (things <= 0) return;
  all_.push_back({ns, things});
  if (was_quiet_ && core_is_quiet()) quiet_.push_back({ns, things});
}

double QuietTime::each() const {
  std::vector<Piece> pieces = quiet_share() >= kEnough ? quiet_ : all_;
  if (pieces.empty()) return 0;
  const auto each = [](const Piece& piece) { return piece.ns / piece.things; };
  const auto middle = pieces.begin() + static_cast<std::ptrdiff_t>(pieces.size() / 2);
  std::nth_element(pieces.begin(), middle, pieces.end(), [&](const Piece& a, const Piece& b) { return each(a) < each(b); });
  const double most = kInterrupted * each(*middle);
  std::erase_if(pieces, [&](const Piece& piece) { return each(piece) > most; });
  const Piece sum = sum_of(pieces);
  return sum.things > 0 ? sum.ns / sum.things : 0;
}

double QuietTime::quiet_share() const {
  const double all = sum_of(all_).things;
  return all > 0 ? sum_of(quiet_).things / all : 0;
}

QuietTime::Piece QuietTime::sum_of(const std::vector<Piece>& pieces) {
  Piece sum;
  for (const Piece& piece : pieces) sum.ns += piece.ns, sum.things += piece.things;
  return sum;
}

}  // namespace dvm::runtime
