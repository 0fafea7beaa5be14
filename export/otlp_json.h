#pragma once
// Metrics and log records as OTLP, the protocol of OpenTelemetry, in its JSON encoding: the bodies of requests to /v1/metrics and
// /v1/logs.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "runtime/consumer/metrics.h"
#include "runtime/consumer/record_copies.h"

namespace dvm::exporting {

// Whose metrics and records they are.
struct OtlpResource {
  std::string version, host;
};

// A record that waits to be sent. The probe's description is a copy, since probes may go.
struct LogRecord {
  std::shared_ptr<const std::string> probe;
  std::string name, text;  // of the thread; printed by the clause
  int32_t cpu = 0, pid = 0, tid = 0;
  uint64_t time = 0;  // walltimestamp

  size_t bytes() const { return sizeof(*this) + name.size() + text.size(); }
};

// Makes LogRecords from the consumer's records. The records of a probe share its description.
class LogRecords {
 public:
  LogRecord make(runtime::RecordCopy copy);

 private:
  std::unordered_map<uint32_t, std::shared_ptr<const std::string>> probes_;  // by id
};

std::string otlp_metrics(const runtime::Snapshot& snapshot, const OtlpResource& origin);
// time: the walltimestamp at which the records were read.
std::string otlp_logs(std::span<const LogRecord> records, uint64_t time, const OtlpResource& origin);

// What a collector that accepted only a part of a request says in its answer: how many items it rejected, and why. 0 and no
// reason for any other answer.
struct Rejected {
  uint64_t count = 0;
  std::string reason;
};
Rejected rejected_in(const std::string& answer);

}  // namespace dvm::exporting
