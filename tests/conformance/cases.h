// The list of cases, the same for every backend.
//
// A case is a name and a check that reports failures through GoogleTest. `values_*` cases look at
// buffer contents; in `refusal_*` cases the backend itself must reject something. All others also
// apply to a backend without data.
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

/// Each function adds the cases of one file; `all_cases` calls them all.
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
