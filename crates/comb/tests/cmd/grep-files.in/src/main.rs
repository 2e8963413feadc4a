// TODO: walk
