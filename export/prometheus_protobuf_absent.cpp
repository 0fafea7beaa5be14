// No such format: dvm was built without libprotobuf.

#include "export/prometheus_protobuf.h"

namespace dvm::exporting {

bool has_prometheus_protobuf() { return false; }
std::string prometheus_protobuf(const runtime::Snapshot&) { return ""; }

}  // namespace dvm::exporting
