#pragma once
// Finds the format that a scraper asks for in the Accept header of its request.

#include <string_view>

namespace dvm::exporting {

// True if the header names Prometheus' length-delimited protobuf format and does not prefer text.
bool prefers_protobuf(std::string_view accept);

}  // namespace dvm::exporting
