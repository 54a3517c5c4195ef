// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/driver_fixture.h"
