#include "heed/text/unicode.h"
