import Testing

/// Everything that happens on the one phone that the stand-ins play, one after another.
@Suite(.serialized) enum OnePhone {}
