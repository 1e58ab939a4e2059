#pragma once

// The messages that protoc makes of hlo.proto.
#include <hlo.pb.h>
