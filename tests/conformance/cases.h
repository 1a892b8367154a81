// The list of cases, the same for every backend.
//
// A case is a name and a check that fails through GoogleTest. `values_*` are those that look at
// contents of buffers, `refusal_*` those where the backend itself has to say no; all others hold
// for a backend without data too.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backends.h"

namespace hostir::conformance {

struct Case {
  std::string name;  // letters, digits, '_'
  std::function<void(const BackendUnderTest&)> check;
};
using CaseList = std::vector<Case>;

/// One function per file of cases; `all_cases` calls them.
void add_setup_cases(CaseList& cases);
void add_memory_cases(CaseList& cases);
void add_kernel_cases(CaseList& cases);
void add_collective_cases(CaseList& cases);
void add_transfer_cases(CaseList& cases);
void add_order_cases(CaseList& cases);
void add_checkpoint_cases(CaseList& cases);
void add_summary_cases(CaseList& cases);
void add_refusal_cases(CaseList& cases);

const CaseList& all_cases();

}  // namespace hostir::conformance
