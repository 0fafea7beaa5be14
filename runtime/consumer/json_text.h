#pragma once
// Writes the common parts of records as JSON text, without a tree of objects.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "runtime/consumer/datum.h"
#include "runtime/consumer/made.h"

namespace dvm::runtime {

// Bytes that are not UTF-8 are replaced, because JSON does not allow them. Control characters above 0x7e, which a terminal would
// obey, are escaped.
void append_json(std::string& out, const nlohmann::ordered_json& value);
// In quotes.
void append_json_string(std::string& out, std::string_view text);
void append_json_datum(std::string& out, const Datum& datum, const MadePrinter& made);

}  // namespace dvm::runtime
