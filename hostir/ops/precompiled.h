// The precompiled header, for builds with HOSTIR_PCH=ON. It is off in the dev build, where a
// missing include is therefore an error.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hostir/ops/record.h"
