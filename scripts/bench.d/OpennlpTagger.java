// The rival OpenNLP, in a process of its own: its perceptron on our attributes, and the tag before as a further one.
//
//     OpennlpTagger train      TEMPLATES CORPUS MODEL ITERATIONS
//     OpennlpTagger tag        TEMPLATES MODEL CORPUS OUTPUT       the corpus with the guess as a further column
//     OpennlpTagger attributes TEMPLATES CORPUS                    one token per line, for a comparison with ours
//
// TEMPLATES has one template per line: for each part text, attribute and offset, all separated by tabs; or only a text,
// which every token has.

import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import opennlp.tools.postag.POSContextGenerator;
import opennlp.tools.postag.POSModel;
import opennlp.tools.postag.POSSample;
import opennlp.tools.postag.POSTaggerFactory;
import opennlp.tools.postag.POSTaggerME;
import opennlp.tools.util.ObjectStream;
import opennlp.tools.util.ObjectStreamUtils;
import opennlp.tools.util.TrainingParameters;

/** Itself the factory of the features, since OpenNLP makes that by its name, which must be a top-level class's. */
public class OpennlpTagger extends POSTaggerFactory {
    /** One value of an attribute: `suffix3[0]=` and what comes after it. Strings are made once for each word. */
    private static final class Part {
        final String text;
        final String attribute;
        final int size;
        final int offset;
        final Map<String, String> known = new HashMap<>();

        Part(String text, String attribute, int offset) {
            boolean sized = Character.isDigit(attribute.charAt(attribute.length() - 1));
            this.text = text + "=";
            this.attribute = sized ? attribute.substring(0, attribute.length() - 1) : attribute;
            this.size = sized ? attribute.charAt(attribute.length() - 1) - '0' : 0;
            this.offset = offset;
        }

        /** The part's string at a position, or nothing where the attribute does not apply. */
        String at(int position, String[] words) {
            int at = position + offset;
            if (at < 0) return text + "<" + at + ">";
            if (at >= words.length) return text + "<+" + (at - words.length + 1) + ">";
            return known.computeIfAbsent(words[at], word -> {
                String value = value(word);
                return value == null ? "" : text + value.replace("\\", "\\\\").replace("&", "\\&");
            });
        }

        private String value(String word) {
            switch (attribute) {
                case "identity": return word;
                case "lower": return word.toLowerCase();
                case "prefix": return word.length() < size ? null : word.substring(0, size);
                case "suffix": return word.length() < size ? null : word.substring(word.length() - size);
                case "shape": return shape(word, false);
                case "short_shape": return shape(word, true);
                default: throw new IllegalArgumentException("unknown attribute " + attribute);
            }
        }

        private static String shape(String word, boolean runsAsOne) {
            StringBuilder shape = new StringBuilder();
            for (char c : word.toCharArray()) {
                char kind = Character.isUpperCase(c) ? 'X' : Character.isLowerCase(c) ? 'x'
                        : Character.isDigit(c) ? 'd' : Character.isLetter(c) ? 'c' : c;
                if (!runsAsOne || shape.length() == 0 || shape.charAt(shape.length() - 1) != kind) shape.append(kind);
            }
            return shape.toString();
        }
    }

    private static final List<List<Part>> templates = new ArrayList<>();
    private static final List<String> constants = new ArrayList<>();

    private static List<String> attributes(int position, String[] words) {
        List<String> found = new ArrayList<>();
        for (List<Part> template : templates) {
            String joined = template.get(0).at(position, words);
            for (int i = 1; i < template.size() && !joined.isEmpty(); i++) {
                String next = template.get(i).at(position, words);
                joined = next.isEmpty() ? "" : joined + " & " + next;
            }
            if (!joined.isEmpty()) found.add(joined);
        }
        found.addAll(constants);
        return found;
    }

    public OpennlpTagger() {
        super(new byte[0], null, null); // no description of its own features, which the model would hold
    }

    @Override
    public POSContextGenerator getPOSContextGenerator() {
        return (position, words, tagsBefore, more) -> {
            List<String> context = attributes(position, words);
            context.add(position == 0 ? "tag[-1]=<-1>" : "tag[-1]=" + tagsBefore[position - 1]);
            return context.toArray(new String[0]);
        };
    }

    @Override
    public POSContextGenerator getPOSContextGenerator(int cacheSize) {
        return getPOSContextGenerator();
    }

    private static void readTemplates(String path) throws IOException {
        for (String line : Files.readAllLines(Path.of(path))) {
            String[] fields = line.split("\t");
            List<Part> parts = new ArrayList<>();
            for (int i = 0; i + 2 < fields.length; i += 3)
                parts.add(new Part(fields[i], fields[i + 1], Integer.parseInt(fields[i + 2])));
            if (parts.isEmpty()) constants.add(line);
            else templates.add(parts);
        }
    }

    private static List<POSSample> readCorpus(String path) throws IOException {
        InputStream file = new FileInputStream(path);
        if (path.endsWith(".gz")) file = new GZIPInputStream(file, 1 << 16);
        List<POSSample> samples = new ArrayList<>();
        List<String> words = new ArrayList<>(), tags = new ArrayList<>();
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); ; line = lines.readLine()) {
                if (line != null && !line.isBlank()) {
                    int space = line.indexOf(' ');
                    words.add(line.substring(0, space));
                    tags.add(line.substring(space + 1));
                } else if (!words.isEmpty()) {
                    samples.add(new POSSample(words, tags));
                    words = new ArrayList<>();
                    tags = new ArrayList<>();
                }
                if (line == null) return samples;
            }
        }
    }

    private static void train(String corpus, String model, String iterations) throws IOException {
        TrainingParameters parameters = new TrainingParameters();
        parameters.put("Algorithm", "PERCEPTRON");
        parameters.put("Iterations", iterations);
        parameters.put("Cutoff", "0"); // no feature is dropped, as nobody else drops any
        parameters.put("DataIndexer", "OnePass"); // the faster one: it keeps all in memory
        ObjectStream<POSSample> samples = ObjectStreamUtils.createObjectStream(readCorpus(corpus));
        POSTaggerME.train("x-unspecified", samples, parameters, new OpennlpTagger()).serialize(new File(model));
    }

    private static void tag(String model, String corpus, String output) throws IOException {
        POSTaggerME tagger = new POSTaggerME(new POSModel(new File(model)));
        try (Writer writer = Files.newBufferedWriter(Path.of(output))) {
            for (POSSample sample : readCorpus(corpus)) {
                String[] words = sample.getSentence(), gold = sample.getTags(), guesses = tagger.tag(words);
                for (int i = 0; i < words.length; i++)
                    writer.write(words[i] + " " + gold[i] + " " + guesses[i] + "\n");
                writer.write("\n");
            }
        }
    }

    private static void printAttributes(String corpus) throws IOException {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (POSSample sample : readCorpus(corpus))
            for (int i = 0; i < sample.getSentence().length; i++)
                out.println(String.join("\t", attributes(i, sample.getSentence())));
        out.flush();
    }

    public static void main(String[] arguments) throws IOException {
        readTemplates(arguments[1]);
        switch (arguments[0]) {
            case "train": train(arguments[2], arguments[3], arguments[4]); break;
            case "tag": tag(arguments[2], arguments[3], arguments[4]); break;
            default: printAttributes(arguments[2]);
        }
    }
}
