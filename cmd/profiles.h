#pragma once
// Finding profiles: a file, or the name of one that comes with dvm.

#include <optional>
#include <string>
#include <string_view>

#include "dvm/common/result.h"
#include "dvm/dif/option.h"
#include "dvm/vm/profile.h"
#include "runtime/cost/rows.h"

namespace dvm::cmd {

// Path at which `dvm cost calibrate` keeps the profile of this machine: $XDG_CONFIG_HOME/dvm/profile.json, or without that
// variable ~/.config/dvm/profile.json. Empty if the user has no home directory.
std::string default_profile_path();

// name: a profile that comes with dvm, such as "pentium4-1700", or a path; empty: the profile of this machine, and if there is
// none the error says how to get one. If it warns: of unknown rows and of a profile of another machine or build, on standard
// error.
Result<vm::Profile> read_profile(const std::string& name, bool warns = true);

// A warning if much of the calibration was disturbed, so that prices may be too high; empty if little was.
std::string disturbance(const vm::Profile& profile);

// True if rows of the profile begin with the folder's name.
bool has_folder(const vm::Profile& profile, const std::string& folder);
bool prices_engine(const vm::Profile& profile, runtime::EngineId engine);

// The place where clauses of an engine run, or those of a script with these options. Under `engine=auto` they begin on the
// interpreter. An error: the profile has no prices of that engine.
Result<runtime::Execution> execution_on(runtime::EngineId engine, const vm::Profile& profile);
Result<runtime::Execution> execution_under(const dif::Options& options, const vm::Profile& profile);

// Whether predictions under these options are for an agent: a run would use one, and the profile has prices for it. Fails if the
// options ask for an agent by name and the profile has no prices for it.
Result<bool> predicts_agent(const dif::Options& options, const vm::Profile& profile);

// The word of the option: auto, or an engine.
std::string_view engine_word(const dif::Options& options);

// Clauses under these options change from the interpreter to machine code; later_execution() is its place, if the profile prices
// that.
bool changes_engine(const dif::Options& options);
std::optional<runtime::Execution> later_execution(const dif::Options& options, const vm::Profile& profile);

}  // namespace dvm::cmd
