#pragma once
// Which format a scraper wants, by the header Accept of its request.

#include <string_view>

namespace dvm::exporting {

// Whether it names Prometheus' protobuf format, with lengths before its messages, and does not prefer text.
bool prefers_protobuf(std::string_view accept);

}  // namespace dvm::exporting
