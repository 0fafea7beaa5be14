#pragma once
// Makes the program that writes a record in the traced thread (runtime/agent/inside/fire.cpp), from the layout of the record.

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/instrument/uprobe/record.h"

namespace dvm::runtime {

// Lays out records for an agent. Their last slot is cut where it can be, however large the record is.
RecordLayouts make_agent_layouts(CaptureNeeds possible, const SiteShape& shape);

// An inside::RecordProgram and its steps. The time and the head are written without a step.
std::vector<std::byte> make_record_program(const RecordLayout& layout);

}  // namespace dvm::runtime
