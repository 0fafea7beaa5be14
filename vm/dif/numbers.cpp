// No number stands in two rows of a table: an enumeration would take both for one. Tested by the build.

#include <algorithm>
#include <array>
#include <cstddef>

#include "dvm/dif/action.h"
#include "dvm/dif/variable.h"

namespace dvm::dif {
namespace {

template <size_t kSize>
constexpr bool are_different(std::array<unsigned, kSize> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end();
}

// DTrace numbers aggregating functions among the actions.
static_assert(are_different(std::array{
#define DVM_ACTION(number, ...) unsigned{number},
#include "vm/dif/actions.def"
#define DVM_AGGREGATION(number, ...) unsigned{number},
#include "vm/dif/aggregations.def"
              }),
              "two actions have one number");

static_assert(are_different(std::array{
#define DVM_VARIABLE(id, ...) unsigned{id},
#include "vm/dif/variables.def"
              }),
              "two variables have one number");

}  // namespace
}  // namespace dvm::dif
