#include "buildinfo.h"

#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)

const char *buildinfo_commit(void) {
#ifdef TOLLGATE_COMMIT
    return TEXT_OF(TOLLGATE_COMMIT);
#else
    return "";
#endif
}
