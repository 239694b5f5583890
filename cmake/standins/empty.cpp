// The body of a stand-in library: nothing. Its name and its dependency on the core are what counts.
