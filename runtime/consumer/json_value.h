#pragma once
// Converts values of every kind to JSON.

#include <nlohmann/json.hpp>

#include "runtime/consumer/aggregation.h"
#include "runtime/consumer/made.h"

namespace dvm::runtime {

using Json = nlohmann::ordered_json;

// A number, a string, {"bytes": "0a1b"}, or the object of a stack or symbol.
Json json_of(const Datum& datum, const MadePrinter& made);
// The symbol at an address.
Json json_of(const UserAddress& place, const MadePrinter& made);
// Like json_of(), for a key. Different keys stay different: text that is not UTF-8 is accompanied by its bytes.
Json key_of(const Datum& datum, const MadePrinter& made);
// A value by its layout: structures are objects, arrays are arrays, enumerators their names.
Json json_of(const dif::ValueLayout& layout, std::span<const std::byte> bytes);
// {"name", "function", "normal"}, and the "parameters" of lquantize() and llquantize().
Json json_of(const MergedAggregation& aggregation);
// A number, or the buckets of a distribution that are not empty. Null: no row has the key.
Json json_of(const MergedAggregation& aggregation, const MergedRow* row);
// A bucket of a distribution: {"min", "max", "count"}.
Json bucket_of(size_t bucket, uint64_t count, const MergedAggregation& aggregation);

// The words of a state that are not 0, as [index, word]. Null if they follow from the row's value.
Json state_of(const MergedAggregation& aggregation, const MergedRow* row);
// True if the state of a row can be computed from its value.
bool tells_state(const MergedAggregation& aggregation);

}  // namespace dvm::runtime
