#pragma once
// Turns an error into an exception, for a sequence of steps that ends at the first error. Not for probe context, which does not
// throw.

#include <utility>

#include "dvm/common/result.h"

namespace dvm {

// The value, or throws the Error.
template <class T>
T or_throw(Result<T> result) {
  if (!result) throw result.error();
  return *std::move(result);
}
inline void or_throw(const Status& status) {
  if (!status) throw status.error();
}

// Carries the steps out. Returns the Error that they throw.
template <class Steps>
Status caught(const Steps& steps) try {
  steps();
  return {};
} catch (const Error& error) {
  return error;
}

}  // namespace dvm
