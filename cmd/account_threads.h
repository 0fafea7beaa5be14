#pragma once
// The part of an account that the threads traced by an agent pay: counted by dvm, priced by the profile of this machine.

#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/cost/runs/thread_parts.h"

namespace dvm::cmd {

struct ThreadAccount {
  std::string profile;  // its name; empty: there are no prices
  double clock_hz = 0;
  std::vector<runtime::ThreadPart> parts;  // empty: no agent made a probe fire
  std::set<std::string> missing;           // rows without a price, which cost nothing here
};

ThreadAccount account_threads(runtime::Handle& handle, std::span<const dif::Program* const> programs,
                              const runtime::Account& account);
void print_threads(std::FILE* out, const ThreadAccount& threads);
nlohmann::ordered_json json_of(const ThreadAccount& threads);

}  // namespace dvm::cmd
