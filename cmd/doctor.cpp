// dvm doctor: what works on this machine, and why the rest does not. Covered by tests/runtime/scenarios/test_doctor.py.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cmd/command.h"
#include "cmd/doctor_checks.h"

namespace dvm::cmd {
namespace {

void print_row(const DoctorCheck& check, const Finding& found) {
  const std::string& text = found.works() ? found.detail : found.reason;
  fmt::print("{:<14}{:<{}}{}\n", check.name, found.works() ? "works" : "does not work", text.empty() ? 0 : 15, text);
  fmt::print("{:<14}{:<15}for {}\n", "", "", check.text);
  if (!found.remedy.empty()) fmt::print("{:<14}{:<15}try: {}\n", "", "", found.remedy);
}

nlohmann::ordered_json as_json(const DoctorCheck& check, const Finding& found) {
  return {{"name", check.name},     {"works", found.works()}, {"needed", check.is_needed}, {"purpose", check.text},
          {"detail", found.detail}, {"reason", found.reason}, {"remedy", found.remedy}};
}

int examine(bool json) {
  int status = 0;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const DoctorCheck& check : doctor_checks()) {
    const Finding found = check.look();
    if (!found.works() && check.is_needed) status = 1;
    if (json)
      rows.push_back(as_json(check, found));
    else
      print_row(check, found);
  }
  if (json)
    fmt::print("{}\n", nlohmann::ordered_json({{"usable", status == 0}, {"checks", rows}})
                           .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  return status;
}

}  // namespace

void add_doctor(CLI::App& app, CommandAction& chosen) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = add_command(app, "doctor", "Check what works on this machine", {"dvm doctor", "sudo dvm doctor --json"},
                                  "Exit status: 0 if processes can be traced by uprobes, else 1.");
  command->add_flag("--json", *json, "Print the checks as one JSON object");
  command->callback([json, &chosen] { chosen = [json] { return examine(*json); }; });
}

}  // namespace dvm::cmd
