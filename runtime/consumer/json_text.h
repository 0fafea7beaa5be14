#pragma once
// Writes the usual parts of records as JSON text, without a tree of objects.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "runtime/consumer/datum.h"
#include "runtime/consumer/made.h"

namespace dvm::runtime {

// Bytes that are no UTF-8 are replaced: JSON has no other strings. Control characters above 0x7e, which a terminal obeys, are
// escaped.
void append_json(std::string& out, const nlohmann::ordered_json& value);
// In quotes.
void append_json_string(std::string& out, std::string_view text);
void append_json_datum(std::string& out, const Datum& datum, const MadePrinter& made);

}  // namespace dvm::runtime
